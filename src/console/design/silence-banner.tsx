import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { reach } from "../api/reach.ts";
import { formatDuration } from "../format/text.ts";
import { useNow } from "./use-now.ts";
import { Icon } from "./value/icon.tsx";

/** Says that the service does not answer, and since when. Absent while it answers. */
export function SilenceBanner(): JSX.Element | null {
  const [sinceMs, setSinceMs] = useState<number>();
  useEffect(() => reach.follow(({ silentSinceMs }) => setSinceMs(silentSinceMs)), []);
  const nowMs = useNow(sinceMs === undefined ? undefined : 1_000);
  if (sinceMs === undefined) return null;
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1_000));
  return (
    <div class="silence">
      <Icon name="alert" />
      <p>
        <strong role="alert">The service does not answer.</strong> The console tries again by itself
        {seconds > 0 && `, for ${formatDuration(seconds * 1_000)} now`}. Check that it runs and that this
        browser reaches it.
      </p>
    </div>
  );
}
