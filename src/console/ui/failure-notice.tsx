import type { JSX } from "preact";
import type { FailureText } from "../api/failure-text.ts";
import { Icon } from "./icon.tsx";

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
      {onRetry !== undefined && (
        <button type="button" class="button" disabled={isLoading} onClick={onRetry}>
          {isLoading ? "Trying…" : "Try again"}
        </button>
      )}
    </div>
  );
}

interface FailureNoticeProps {
  readonly failure: FailureText;
  readonly isLoading?: boolean;
  onRetry?(): void;
}
