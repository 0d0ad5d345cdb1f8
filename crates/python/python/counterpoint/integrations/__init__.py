"""Other libraries' mechanisms, accounted for here.

- :mod:`counterpoint.integrations.dp_accounting` translates the events of Google's dp-accounting, and has an
  accountant to put in the place of its own;
- :mod:`counterpoint.integrations.opendp` charges an OpenDP measurement by its own privacy map.

Each needs the library it is named after and imports it; nothing here is imported with counterpoint.
What has no sound counterpart raises :class:`counterpoint.Unsupported`, and never costs nothing.
"""
