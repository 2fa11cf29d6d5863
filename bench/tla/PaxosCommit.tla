---------------------------- MODULE PaxosCommit ----------------------------
(* Each resource manager's vote is an instance of Paxos with two ballots; all *)
(* prepared commits, one aborted aborts: the same steps as                    *)
(* tests/peers/models/paxos_commit.ha.                                        *)
EXTENDS Integers, FiniteSets

CONSTANTS Managers, Acceptors

VARIABLES fate, at, said

vars == <<fate, at, said>>
None == "none"
Majorities == {some \in SUBSET Acceptors : 2 * Cardinality(some) > Cardinality(Acceptors)}

Vote(m, ballot, vote) == [what |-> "vote", manager |-> m, ballot |-> ballot, vote |-> vote]
Prepare(m) == [what |-> "prepare", manager |-> m]
Promise(m, a, ballot, vote) ==
  [what |-> "promise", manager |-> m, acceptor |-> a, ballot |-> ballot, vote |-> vote]
Accepted(m, a, ballot, vote) ==
  [what |-> "accepted", manager |-> m, acceptor |-> a, ballot |-> ballot, vote |-> vote]
Decision(what) == [what |-> what]

Say(message) == said' = said \cup {message}

Init == /\ fate = [m \in Managers |-> "working"]
        /\ at = [m \in Managers |-> [a \in Acceptors |-> [promised |-> 0, ballot |-> -1, vote |-> None]]]
        /\ said = {}

Decide(m, vote) ==
  /\ fate[m] = "working"
  /\ fate' = [fate EXCEPT ![m] = vote]
  /\ Say(Vote(m, 0, vote))
  /\ UNCHANGED at

Hear(m, what) ==
  /\ Decision(what) \in said
  /\ fate' = [fate EXCEPT ![m] = what]
  /\ UNCHANGED <<at, said>>

TakeOver(m) == Say(Prepare(m)) /\ UNCHANGED <<fate, at>>

DoPromise(m, a) ==
  /\ Prepare(m) \in said
  /\ at[m][a].promised < 1
  /\ Say(Promise(m, a, at[m][a].ballot, at[m][a].vote))
  /\ at' = [at EXCEPT ![m][a].promised = 1]
  /\ UNCHANGED fate

Propose(m) ==
  /\ ~ \E v \in {"prepared", "aborted"} : Vote(m, 1, v) \in said
  /\ \E some \in Majorities :
       LET promises == {p \in said : p.what = "promise" /\ p.manager = m /\ p.acceptor \in some}
           accepted == {p \in promises : p.ballot >= 0}
       IN /\ \A a \in some : \E p \in promises : p.acceptor = a
          /\ IF accepted = {} THEN Say(Vote(m, 1, "aborted"))
             ELSE Say(Vote(m, 1, (CHOOSE p \in accepted : TRUE).vote))
  /\ UNCHANGED <<fate, at>>

Accept(m, a) ==
  \E vote \in {v \in said : v.what = "vote" /\ v.manager = m} :
    /\ at[m][a].promised <= vote.ballot
    /\ at' = [at EXCEPT ![m][a] = [promised |-> vote.ballot, ballot |-> vote.ballot, vote |-> vote.vote]]
    /\ Say(Accepted(m, a, vote.ballot, vote.vote))
    /\ UNCHANGED fate

Decided(m, vote) ==
  \E ballot \in {0, 1}, some \in Majorities : \A a \in some : Accepted(m, a, ballot, vote) \in said

Conclude ==
  /\ \/ (\A m \in Managers : Decided(m, "prepared")) /\ Say(Decision("committed"))
     \/ (\E m \in Managers : Decided(m, "aborted")) /\ Say(Decision("aborted"))
  /\ UNCHANGED <<fate, at>>

Next == \/ Conclude
        \/ \E m \in Managers :
             \/ Decide(m, "prepared") \/ Decide(m, "aborted")
             \/ Hear(m, "committed") \/ Hear(m, "aborted")
             \/ TakeOver(m) \/ Propose(m)
             \/ \E a \in Acceptors : DoPromise(m, a) \/ Accept(m, a)

Spec == Init /\ [][Next]_vars

consistent == ~ \E m, n \in Managers : fate[m] = "aborted" /\ fate[n] = "committed"
=============================================================================
