"""Stand-ins that users of the library may use in their own tests too."""
