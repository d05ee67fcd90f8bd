import type { ComponentChildren, JSX } from "preact";
import type { FailureText } from "../api/failure-text.ts";
import type { LiveCall } from "../api/use-call.ts";
import { formatDuration } from "../format/text.ts";
import { useNow } from "./use-now.ts";
import { Icon } from "./value/icon.tsx";

/**
 * Shows a skeleton until the first data, then the data. A failure is shown with a retry button, above the last data,
 * which are then marked as old: they say nothing about now. A call without an answer has one line only, because the
 * banner of the page already gives the alarm.
 */
export function Loaded<Data>({ call, lines = 4, children }: LoadedProps<Data>): JSX.Element {
  const { data, failure, isLoading, reload, readMs } = call;
  return (
    <>
      {failure?.isSilent === true ? (
        <SilentNotice isLoading={isLoading} onRetry={reload} />
      ) : (
        failure !== undefined && <FailureNotice failure={failure} isLoading={isLoading} onRetry={reload} />
      )}
      {data !== undefined && failure !== undefined ? (
        <section class="stale" aria-label="The last answer, which may be out of date">
          <OldNotice readMs={readMs} />
          {children(data)}
        </section>
      ) : data !== undefined ? (
        children(data)
      ) : (
        isLoading && failure === undefined && <Skeleton lines={lines} />
      )}
    </>
  );
}

function SilentNotice({ isLoading, onRetry }: SilentNoticeProps): JSX.Element {
  return (
    <div class="notice no-answer">
      <p>The service does not answer this call.</p>
      <RetryButton isLoading={isLoading} onRetry={onRetry} />
    </div>
  );
}

interface SilentNoticeProps {
  readonly isLoading: boolean;
  onRetry(): void;
}

function RetryButton({ isLoading, onRetry }: SilentNoticeProps): JSX.Element {
  return (
    <button type="button" class="button" disabled={isLoading} onClick={onRetry}>
      {isLoading ? "Trying…" : "Try again"}
    </button>
  );
}

function OldNotice({ readMs }: { readonly readMs: number | undefined }): JSX.Element {
  const nowMs = useNow(1_000);
  const ageMs = Math.max(0, nowMs - (readMs ?? nowMs));
  return (
    <p class="notice">
      This is the last answer, {formatDuration(Math.floor(ageMs / 1_000) * 1_000)} old. It may be out of date.
    </p>
  );
}

interface LoadedProps<Data> {
  readonly call: LiveCall<Data>;
  /** The height of the skeleton in lines. Default 4. */
  readonly lines?: number;
  children(data: Data): ComponentChildren;
}

/** The placeholder of data that is loading. */
function Skeleton({ lines }: { readonly lines: number }): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} class="skeleton-line" />
      ))}
    </div>
  );
}

/** A failed call, with a retry button. */
export function FailureNotice({ failure, isLoading = false, onRetry }: FailureNoticeProps): JSX.Element {
  return (
    <div class="failure" role="alert">
      <Icon name="alert" />
      <div>
        <p class="failure-title">{failure.title}</p>
        <p>{failure.message}</p>
        <p class="muted small">
          {failure.reason}
          {failure.requestId !== undefined && (
            <>
              {" · request "}
              <code>{failure.requestId}</code>
            </>
          )}
        </p>
      </div>
      {onRetry !== undefined && <RetryButton isLoading={isLoading} onRetry={onRetry} />}
    </div>
  );
}

interface FailureNoticeProps {
  readonly failure: FailureText;
  readonly isLoading?: boolean;
  onRetry?(): void;
}
