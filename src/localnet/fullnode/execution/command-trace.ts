import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUleb128 } from "../../../protocol/bytes.ts";
import type { ExecutionState } from "./execution-state.ts";
import type { MoveValue } from "./move-function.ts";
import { type Borrows, changedArguments, type Slots } from "./slots.ts";
import type { PtbArgument, PtbCommand } from "./transaction-data.ts";

/** What a command gave at its end. Later commands may take these values or change them. */
export interface CommandTrace {
  readonly returned: readonly TracedValue[];
  /** The values behind the mutable references of the command, in the order of its arguments. */
  readonly changed: readonly (TracedValue & { readonly argument: PtbArgument })[];
}

/** A Move value: its BCS, and its type if the node knows it. */
export interface TracedValue {
  readonly type: string | undefined;
  readonly bytes: Uint8Array;
}

/** Records a command that has just run. */
export function traceCommand(
  { state, slots }: { readonly state: ExecutionState; readonly slots: Slots },
  command: PtbCommand,
  returned: readonly MoveValue[],
  borrows: Borrows,
): CommandTrace {
  return {
    returned: returned.map((value) => traced(state, value)),
    changed: changedArguments(slots, referencesOf(command), borrows).map(({ argument, value }) => ({
      argument,
      ...traced(state, value),
    })),
  };
}

/** The arguments that a command may take by a mutable reference. */
function referencesOf(command: PtbCommand): readonly PtbArgument[] {
  switch (command.kind) {
    case "moveCall":
      return command.arguments;
    case "split":
      return [command.coin];
    case "merge":
      return [command.destination];
    case "transfer":
    case "vector":
    case "publish":
      return [];
  }
}

function traced(state: ExecutionState, value: MoveValue): TracedValue {
  switch (value.kind) {
    case "data":
      return { type: value.type, bytes: value.bytes };
    case "object":
    case "receiving":
      return { type: value.object.type, bytes: state.contents(value.object).slice() };
    case "objects": {
      const [first] = value.objects;
      const contents = value.objects.map((object) => state.contents(object));
      return {
        type: first && `vector<${first.type}>`,
        bytes: concatBytes(encodeUleb128(contents.length), ...contents),
      };
    }
  }
}
