---------------------------- MODULE LamportMutex ----------------------------
(* Processes order their requests by logical clocks and wait for everybody's *)
(* acknowledgement: the same steps as tests/peers/models/lamport_mutex.ha.   *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Processes, LastTime

VARIABLES time, wanted, acknowledged, inside, inbox

vars == <<time, wanted, acknowledged, inside, inbox>>
Others(p) == Processes \ {p}
Later(a, b) == IF a > b THEN a ELSE b
Head1(p, q, kind) == inbox[p][q] # <<>> /\ Head(inbox[p][q]).kind = kind

(* What inbox becomes when p has taken the next letter of q, and when p has sent one. *)
Taken(box, p, q) == [box EXCEPT ![p][q] = Tail(@)]
ToOne(box, from, to, letter) == [box EXCEPT ![to][from] = Append(@, letter)]
ToAll(box, from, letter) ==
  [to \in Processes |-> IF to = from THEN box[to] ELSE [box[to] EXCEPT ![from] = Append(@, letter)]]

Before(p, q) == \/ wanted[p][q] = 0
                \/ wanted[p][p] < wanted[p][q]
                \/ wanted[p][p] = wanted[p][q] /\ p < q

Init == /\ time = [p \in Processes |-> 1]
        /\ wanted = [p \in Processes |-> [q \in Processes |-> 0]]
        /\ acknowledged = [p \in Processes |-> {}]
        /\ inside = [p \in Processes |-> FALSE]
        /\ inbox = [p \in Processes |-> [q \in Processes |-> <<>>]]

Ask(p) == /\ wanted[p][p] = 0
          /\ wanted' = [wanted EXCEPT ![p][p] = time[p]]
          /\ acknowledged' = [acknowledged EXCEPT ![p] = {p}]
          /\ inbox' = ToAll(inbox, p, [kind |-> "request", stamp |-> time[p]])
          /\ UNCHANGED <<time, inside>>

HearRequest(p, q) ==
  /\ Head1(p, q, "request")
  /\ LET stamp == Head(inbox[p][q]).stamp
         next == Later(stamp, time[p]) + 1
     IN /\ next <= LastTime
        /\ wanted' = [wanted EXCEPT ![p][q] = stamp]
        /\ time' = [time EXCEPT ![p] = next]
        /\ inbox' = ToOne(Taken(inbox, p, q), p, q, [kind |-> "ack", stamp |-> 0])
  /\ UNCHANGED <<acknowledged, inside>>

HearAck(p, q) == /\ Head1(p, q, "ack")
                 /\ acknowledged' = [acknowledged EXCEPT ![p] = @ \cup {q}]
                 /\ inbox' = Taken(inbox, p, q)
                 /\ UNCHANGED <<time, wanted, inside>>

Enter(p) == /\ acknowledged[p] = Processes
            /\ \A q \in Others(p) : Before(p, q)
            /\ inside' = [inside EXCEPT ![p] = TRUE]
            /\ UNCHANGED <<time, wanted, acknowledged, inbox>>

Leave(p) == /\ inside[p]
            /\ inside' = [inside EXCEPT ![p] = FALSE]
            /\ wanted' = [wanted EXCEPT ![p][p] = 0]
            /\ acknowledged' = [acknowledged EXCEPT ![p] = {}]
            /\ inbox' = ToAll(inbox, p, [kind |-> "release", stamp |-> 0])
            /\ UNCHANGED time

HearRelease(p, q) == /\ Head1(p, q, "release")
                     /\ wanted' = [wanted EXCEPT ![p][q] = 0]
                     /\ inbox' = Taken(inbox, p, q)
                     /\ UNCHANGED <<time, acknowledged, inside>>

Next == \E p \in Processes :
          \/ Ask(p) \/ Enter(p) \/ Leave(p)
          \/ \E q \in Others(p) : HearRequest(p, q) \/ HearAck(p, q) \/ HearRelease(p, q)

Spec == Init /\ [][Next]_vars

exclusive == Cardinality({p \in Processes : inside[p]}) <= 1
=============================================================================
