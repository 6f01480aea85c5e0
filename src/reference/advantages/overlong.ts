// Soft overlong punishment: Yu et al. 2025, "DAPO" (arXiv 2503.14476), equation 13.

/** 0 up to `limit - buffer`, then falling by 1 over the buffer; -1 beyond the limit. The buffer is above 0. */
export function softOverlong(length: number, limit: number, buffer: number): number {
  const free = limit - buffer;
  if (length <= free) return 0;
  if (length <= limit) return (free - length) / buffer;
  return -1;
}
