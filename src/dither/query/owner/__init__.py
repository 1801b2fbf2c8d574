"""For the owner: drafts of policies, and a look at the data before anybody asks."""
