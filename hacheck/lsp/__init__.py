"""The language server: specs in an editor, by the Language Server Protocol.

`symbols` says what each name in a file means, `spec_file` keeps what is known of an open file, `requests` answers what
editors ask as plain data, and `server` speaks the protocol (pygls).
"""
