"""`hacheck replay`: finds the run, has it carried out, and shows model and product side by side."""
