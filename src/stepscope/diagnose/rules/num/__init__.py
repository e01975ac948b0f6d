"""Numbers that break: NaN, Inf, integers where fractions were meant."""
