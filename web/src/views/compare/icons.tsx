/** Drawings that only this page needs. */

export function SwapIcon({ size = 16 }: { size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d="M2.5 5.5h10m0 0L9.8 2.8m2.7 2.7L9.8 8.2M13.5 10.5h-10m0 0 2.7-2.7m-2.7 2.7 2.7 2.7" />
    </svg>
  );
}
