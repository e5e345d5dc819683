"""What the extractive summary takes from a span: one file per sort of material, each giving section items.

Weights are comparable across sections: 100 binds (must-keep facts, constraints), 50 is the task itself, 20 to 35 is
unfinished work, below that is what helps.
"""
