"""Real IceStorm replicas as a product that runs of `icestorm` are carried out on."""
