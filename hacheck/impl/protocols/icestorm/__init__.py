"""Highly available IceStorm: replicas that elect a coordinator by invitation, and the topic service they replicate."""
