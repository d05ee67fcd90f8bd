/** @jsxImportSource react */
import type { MutationState } from "threshold-signing-service/react";
import { explain } from "../web/explain-error.ts";

/** Shows the stage of an action, and its error. */
export function Progress({
  of: { status, progress, error },
}: {
  readonly of: MutationState<unknown, string>;
}) {
  return (
    <>
      <p role="status">
        {status === "pending" ? `In progress: ${progress?.stage ?? "start"}` : STATUS[status]}
      </p>
      <p role="alert">{error && explain(error)}</p>
    </>
  );
}

const STATUS = { idle: "Nothing in progress.", success: "Done.", error: "Stopped." };
