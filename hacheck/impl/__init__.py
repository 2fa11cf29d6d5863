"""The second description: each protocol written again as an engineer would ship it, independently of the model.

Here live the nodes, which take an input and a time and return effects, with no clock, socket or random number
inside; and the three that carry effects out: the simulator that runs a cluster from one seed, the runtime with real
processes, sockets and lock files, and the stepper, a cluster whose next step somebody else chooses. Nothing here
imports the model or what is built on it: two descriptions can only be compared while neither knows the other.
"""
