"""Find which hidden quantities the prices of a sheet determine, and how much each input changes them."""
