"""Answers by Z3: the lowered form as formulas, bounded model checking, induction, and why something holds."""
