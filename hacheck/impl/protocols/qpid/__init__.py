"""Active-passive clusters of message brokers as Qpid's C++ broker has them: a primary, hot backups, a resource manager.

**Source:** the overview of the broker's HA module (Qpid C++, `ha/README.h`), and the survey of broker failover
protocols, section 1, whose ids (Q-G1, Q-W1, QP-3) the docstrings cite.
"""
