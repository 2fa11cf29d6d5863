--------------------------- MODULE TwoPhaseCommit ---------------------------
(* A transaction manager collects who is prepared, then commits or aborts for *)
(* all: the same steps as tests/peers/models/two_phase_commit.ha.             *)
CONSTANTS Managers

VARIABLES fate, decision, known, said

vars == <<fate, decision, known, said>>

Init == /\ fate = [m \in Managers |-> "working"]
        /\ decision = "open"
        /\ known = {}
        /\ said = {}

Note(m) == /\ decision = "open" /\ <<"prepared", m>> \in said
           /\ known' = known \cup {m}
           /\ UNCHANGED <<fate, decision, said>>

Conclude(what) == /\ decision = "open"
                  /\ what = "committed" => known = Managers
                  /\ decision' = what
                  /\ said' = said \cup {<<what>>}
                  /\ UNCHANGED <<fate, known>>

Prepare(m) == /\ fate[m] = "working"
              /\ fate' = [fate EXCEPT ![m] = "prepared"]
              /\ said' = said \cup {<<"prepared", m>>}
              /\ UNCHANGED <<decision, known>>

GiveUp(m) == /\ fate[m] = "working"
             /\ fate' = [fate EXCEPT ![m] = "aborted"]
             /\ UNCHANGED <<decision, known, said>>

Hear(m, what) == /\ <<what>> \in said
                 /\ fate' = [fate EXCEPT ![m] = what]
                 /\ UNCHANGED <<decision, known, said>>

Next == \/ Conclude("committed") \/ Conclude("aborted")
        \/ \E m \in Managers : \/ Note(m) \/ Prepare(m) \/ GiveUp(m)
                               \/ Hear(m, "committed") \/ Hear(m, "aborted")

Spec == Init /\ [][Next]_vars

consistent == ~ \E m, n \in Managers : fate[m] = "aborted" /\ fate[n] = "committed"
=============================================================================
