import type { ActionOptions } from "../../../../src/client/sdk/action.ts";
import type { TssClient } from "../../../../src/client/sdk/client.ts";
import { TssError } from "../../../../src/client/sdk/errors.ts";

/** A call of the SDK that the test ends. */
export interface HeldCall {
  readonly method: string;
  readonly args: readonly unknown[];
  readonly options: ActionOptions;
  resolve(result: unknown): void;
  reject(error: TssError): void;
}

/** A client whose calls wait for the test. An aborted call rejects with ABORTED, like the SDK's. */
export function heldClient(): { readonly client: TssClient; readonly calls: HeldCall[] } {
  const calls: HeldCall[] = [];
  const held =
    (method: string) =>
    (...given: unknown[]) => {
      const options = given.at(-1) as ActionOptions;
      return new Promise((resolve, reject) => {
        calls.push({ method, args: given.slice(0, -1), options, resolve, reject });
        options.signal?.addEventListener("abort", () =>
          reject(new TssError("ABORTED", "the caller aborted", { resumeToken: "resume_1" })),
        );
      });
    };
  const names = ["onboard", "getOrCreate", "sign", "resume", "getDWallet"];
  const methods = Object.fromEntries(names.map((name) => [name, held(name)]));
  return { client: methods as unknown as TssClient, calls };
}
