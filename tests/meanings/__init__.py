"""The two meanings of the language compared: by the specs that are shipped, and by random ones of every construct."""
