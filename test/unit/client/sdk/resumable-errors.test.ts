import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { isAnswer, isResumable, TssError } from "../../../../src/client/sdk/errors.ts";
import { serviceError } from "./fake-service.ts";

test.each([
  ...["TIMEOUT", "ABORTED", "UNREACHABLE", "WRONG_URL", "CHAIN_UNAVAILABLE", "FULLNODES_DISAGREE"],
  ...["SESSION_UNAVAILABLE", "SESSION_EXPIRED", "SESSION_REVOKED", "PROOF_INVALID"],
  ...["MISSING_KEY", "INVALID_KEY", "REVOKED_KEY", "EXPIRED_KEY", "KEY_IN_BROWSER", "ORIGIN_NOT_ALLOWED"],
  ...["ADDRESS_NOT_ALLOWED", "SCOPE_MISSING", "OUT_OF_REACH", "NETWORK_DISABLED"],
  ...["UNAUTHENTICATED", "PERMISSION_DENIED"],
  ...["CODE_UNAVAILABLE", "DEADLINE", "INTERNAL", "UNKNOWN", "CANCELED", "UNAVAILABLE", "DEADLINE_EXCEEDED"],
])("an action that ended with %s may still succeed", (reason) => {
  expect(isResumable(new TssError(reason, ""))).toBe(true);
});

test.each(["VALIDATION", "NETWORK_REJECTED", "SHARE_MISMATCH", "NOT_OWNER", "RESERVATION_EXPIRED"])(
  "an action that ended with %s is over, unless the service asks for a retry",
  (reason) => {
    expect(isResumable(new TssError(reason, ""))).toBe(false);
    expect(isResumable(new TssError(reason, "", { retryAfterMs: 0 }))).toBe(true);
  },
);

test("only an error of the service's own domain is its answer", () => {
  const error = serviceError(Code.NotFound, "DWALLET_NOT_FOUND");
  expect(isAnswer(error)).toBe(true);
  for (const detail of error.details)
    if ("value" in detail) Object.assign(detail.value, { domain: "proxy.test" });
  expect(isAnswer(error)).toBe(false);
  error.details = [];
  expect(isAnswer(error)).toBe(false);
});
