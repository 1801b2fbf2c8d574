"""What differs between two policies, fact by fact: each difference with a verdict and its consequence."""
