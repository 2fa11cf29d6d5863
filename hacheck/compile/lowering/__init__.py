"""From the model to code: systems taken apart into scalar slots, actions into blocks of scalar statements.

`system.lower` gives the one form that every code generator prints. Reading order: `layout` (where state lives),
`nodes` and `graph` (scalar expressions), `blocks` (statements), `values` (what composites are meanwhile),
`expressions` and `statements` (the translation).
"""
