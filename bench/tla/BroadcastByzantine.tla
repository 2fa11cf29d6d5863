------------------------- MODULE BroadcastByzantine -------------------------
(* Correct processes echo a broadcast although some processes say anything to *)
(* anybody: the same steps as tests/peers/models/broadcast_byzantine.ha.      *)
EXTENDS Naturals, FiniteSets

CONSTANTS Processes, Tolerated, Faulty

VARIABLES at, received, correct, sent

vars == <<at, received, correct, sent>>
N == Cardinality(Processes)

Init == /\ correct \in {some \in SUBSET Processes : Cardinality(some) = N - Faulty}
        /\ at \in [Processes -> {"heard_nothing", "heard_all"}]
        /\ received = [p \in Processes |-> {}]
        /\ sent = {}

Advance(p, heard) ==
  LET now == received[p] \cup heard
      many == Cardinality(now)
  IN \E next \in {"echoed", "accepted"} :
       /\ \/ next = "accepted" /\ many >= N - Tolerated
          \/ next = "echoed" /\ at[p] = "heard_all"
          \/ next = "echoed" /\ at[p] = "heard_nothing" /\ many >= N - 2 * Tolerated /\ many < N - Tolerated
       /\ received' = [received EXCEPT ![p] = now]
       /\ at' = [at EXCEPT ![p] = next]
       /\ sent' = IF at[p] # "echoed" THEN sent \cup {p} ELSE sent
       /\ UNCHANGED correct

Hear(p) == /\ p \in correct /\ at[p] # "accepted"
           /\ \E heard \in SUBSET (sent \cup (Processes \ correct)) : Advance(p, heard)

Next == \E p \in Processes : Hear(p)

Spec == Init /\ [][Next]_vars

typed == at \in [Processes -> {"heard_nothing", "heard_all", "echoed", "accepted"}]
=============================================================================
