"""Made-up rows of the schema that a policy declares: for trying a question before anything is paid."""
