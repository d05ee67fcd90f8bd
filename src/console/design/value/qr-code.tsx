import type { JSX } from "preact";
import { encodeQR } from "qr";

/** A QR code, dark on light in every theme, because many scanners cannot read an inverted one. */
export function QrCode({ text, label }: QrCodeProps): JSX.Element {
  const rows = encodeQR(text, "raw", { ecc: "medium", border: QUIET_ZONE });
  const size = rows.length;
  const squares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={size} height={size} />
      <path d={squares.join("")} />
    </svg>
  );
}

interface QrCodeProps {
  readonly text: string;
  /** The description of the code for a screen reader. */
  readonly label: string;
}

/** In modules. The standard requires four. */
const QUIET_ZONE = 4;
