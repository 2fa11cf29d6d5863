-------------------------- MODULE TokenTermination --------------------------
(* A token goes round a ring of nodes and finds out that all are idle: the    *)
(* same steps as tests/peers/models/token_termination.ha.                     *)
EXTENDS Naturals

CONSTANTS N

VARIABLES active, black, tokenAt, tokenBlack

vars == <<active, black, tokenAt, tokenBlack>>
Nodes == 1..N

Init == /\ active \in [Nodes -> BOOLEAN]
        /\ black \in [Nodes -> BOOLEAN]
        /\ tokenAt \in Nodes
        /\ tokenBlack = TRUE

BeginProbe == /\ tokenAt = 1 /\ (tokenBlack \/ black[1])
              /\ tokenAt' = N
              /\ tokenBlack' = FALSE
              /\ black' = [black EXCEPT ![1] = FALSE]
              /\ UNCHANGED active

PassToken == /\ tokenAt # 1
             /\ ~active[tokenAt] \/ black[tokenAt] \/ tokenBlack
             /\ tokenBlack' = (tokenBlack \/ black[tokenAt])
             /\ black' = [black EXCEPT ![tokenAt] = FALSE]
             /\ tokenAt' = tokenAt - 1
             /\ UNCHANGED active

SendMessage(n, m) == /\ active[n] /\ m # n
                     /\ active' = [active EXCEPT ![m] = TRUE]
                     /\ black' = [black EXCEPT ![n] = @ \/ m > n]
                     /\ UNCHANGED <<tokenAt, tokenBlack>>

BecomeIdle(n) == /\ active[n]
                 /\ active' = [active EXCEPT ![n] = FALSE]
                 /\ UNCHANGED <<black, tokenAt, tokenBlack>>

Next == \/ BeginProbe \/ PassToken
        \/ \E n \in Nodes : BecomeIdle(n) \/ \E m \in Nodes : SendMessage(n, m)

Spec == Init /\ [][Next]_vars

terminated == \A n \in Nodes : ~active[n]
detected == tokenAt = 1 /\ ~tokenBlack /\ ~black[1] /\ ~active[1]
detected_rightly == detected => terminated
why == \/ \A n \in Nodes : n > tokenAt => ~active[n]
       \/ \E n \in Nodes : n <= tokenAt /\ black[n]
       \/ tokenBlack
=============================================================================
