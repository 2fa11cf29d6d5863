"""From the configuration files of a highly available system to a verdict: what may happen under just these settings.

`readers/*.toml` say how the files of a product are read; `formats` turns files into entries; `configuration` makes of
them the nodes with their settings; `modelling` says which spec under which settings they amount to; `exploration`
explores it, `changes` looks for the smallest change that helps, `contradictions` for settings that do not fit together,
`misspelt` for names that are nearly known.
`audit` is all of it in one call. Begin with `reader`: what a reader says is what the rest does.
"""
