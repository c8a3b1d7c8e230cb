"""Find which hidden quantities the prices of a sheet determine, and how far each input moves them."""
