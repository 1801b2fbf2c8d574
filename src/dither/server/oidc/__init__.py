"""Logins by OpenID Connect: the provider says who somebody is and in which groups, and the gateway what these may do."""
