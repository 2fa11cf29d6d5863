"""Pictures of runs as lines of styled text: the space-time diagram, the broken part of a property, the story."""
