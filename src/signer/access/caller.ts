import type { Log } from "../../service/platform/telemetry/logger.ts";
import { SignerError } from "../signer-error.ts";
import { type CallerRules, PAYLOAD_NAMES } from "./access-list.ts";
import type { SlidingBound } from "./sliding-bound.ts";

/** Who makes a call, and what it may do. */
export interface Caller {
  /** Empty if there is no file of callers: then all calls are of one caller. */
  readonly name: string;
  /** Returns true if the caller may use and see the key of this name. */
  sees(keyName: string): boolean;
  /** Throws SignerError CALLER_NOT_ALLOWED, whether or not there is a key of this name. */
  checkKey(keyName: string): void;
  /**
   * Throws SignerError CALLER_NOT_ALLOWED if the caller may not make this key.
   *
   * @param keyNames the names of all other keys; none if the key is already begun, because it needs no further place
   */
  checkCreate(keyName: string, curve: string, keyNames: Iterable<string>): void;
  /**
   * Throws SignerError CALLER_NOT_ALLOWED if the caller may not sign such a payload with a key on this curve.
   *
   * @param kind the payload's name in the generated code, such as `evmMessage`
   */
  checkPayload(keyName: string, kind: string | undefined, curve: string): void;
  /** Throws SignerError CALLER_NOT_ALLOWED if the caller may sign no payload of Ethereum. */
  checkEthereum(): void;
  /** Counts a signature. Throws SignerError CALLER_RATE_EXCEEDED if the caller has made too many. */
  countSignature(): void;
}

/** The only caller of a signer without a file of callers. */
export const EVERYONE: Caller = {
  name: "",
  sees: () => true,
  checkKey() {},
  checkCreate() {},
  checkPayload() {},
  checkEthereum() {},
  countSignature() {},
};

/** The counts of a caller, which a changed file does not begin again. */
export interface CallerCounts {
  readonly minute: SlidingBound;
  readonly day: SlidingBound;
}

/** Creates a caller with the rules of the file. The log has each refusal, with its audit fields. */
export function createCaller(rules: CallerRules, counts: CallerCounts, log: Log): Caller {
  const { name, curves, payloads, maxKeys } = rules;
  const notAllowed = (keyName: string | undefined, field: string, description: string) => {
    log.info(
      { audit: "refused", caller: name, keyName, field, outcome: "CALLER_NOT_ALLOWED" },
      "a caller is refused",
    );
    return new SignerError("CALLER_NOT_ALLOWED", `${field}: ${description}`, {
      metadata: { caller: name, field },
      violations: [{ field, description }],
    });
  };
  const sees = (keyName: string) => rules.keys.some((pattern) => matches(pattern, keyName));
  const checkKey = (keyName: string) => {
    if (!sees(keyName)) throw notAllowed(keyName, "name", "the caller may not use a key of this name");
  };
  const checkCurve = (keyName: string, field: string, curve: string) => {
    if (curves !== undefined && !curves.has(curve))
      throw notAllowed(keyName, field, `the caller may not use keys on ${curve}`);
  };
  return {
    name,
    sees,
    checkKey,
    checkCreate(keyName, curve, keyNames) {
      checkKey(keyName);
      if (!rules.mayCreateKeys) throw notAllowed(keyName, "name", "the caller may not make keys");
      checkCurve(keyName, "curve", curve);
      if (maxKeys === undefined) return;
      let count = 0;
      for (const each of keyNames) if (sees(each)) count++;
      if (count >= maxKeys) throw notAllowed(keyName, "name", `the caller may have ${maxKeys} keys at most`);
    },
    checkPayload(keyName, kind = "", curve) {
      checkCurve(keyName, "name", curve);
      const field = PAYLOAD_NAMES.get(kind) ?? "payload";
      if (payloads !== undefined && !payloads.has(field))
        throw notAllowed(keyName, field, "the caller may not sign this kind of payload");
    },
    checkEthereum() {
      const hasCurve = curves === undefined || curves.has("SECP256K1");
      const hasPayload = payloads === undefined || [...payloads].some((each) => each.startsWith("evm_"));
      if (!hasCurve || !hasPayload)
        throw notAllowed(undefined, "payload", "the caller may not sign for Ethereum");
    },
    countSignature() {
      const bounds = [
        [counts.minute, rules.signaturesPerMinute, "minute"],
        [counts.day, rules.signaturesPerDay, "day"],
      ] as const;
      for (const [bound, most, window] of bounds) {
        const waitMs = most === undefined ? undefined : bound.take(most);
        if (waitMs === undefined) continue;
        log.info(
          { audit: "refused", caller: name, window, outcome: "CALLER_RATE_EXCEEDED" },
          "a caller has made too many signatures",
        );
        throw new SignerError(
          "CALLER_RATE_EXCEEDED",
          `the caller may make ${most} signatures in a ${window}`,
          {
            metadata: { caller: name, window, most: String(most) },
            retryAfterSeconds: Math.max(1, waitMs / 1000),
          },
        );
      }
    },
  };
}

function matches(pattern: string, keyName: string): boolean {
  return pattern.endsWith("*") ? keyName.startsWith(pattern.slice(0, -1)) : keyName === pattern;
}
