"""Mutation of the elaboration, the lowering and the code generation: does a test notice a mistake put into them?"""
