"""Values at the depth limit: the protocol of leaf evaluators, tables, rollouts and nets."""
