import type { JSX } from "preact";
import {
  ChainTransaction_StateSchema,
  ChainTransaction_State as State,
} from "../../../../gen/client/tss/v1/admin_pb.ts";
import { Badge, type Tone } from "../../design/value/badge.tsx";
import { enumName } from "../../format/text.ts";

export function TransactionBadge({ state }: { readonly state: State }): JSX.Element {
  return <Badge tone={TONES[state] ?? "none"}>{enumName(ChainTransaction_StateSchema, state)}</Badge>;
}

const TONES: Readonly<Partial<Record<State, Tone>>> = {
  [State.stored]: "busy",
  [State.landed]: "good",
  [State.aborted]: "bad",
  [State.dropped]: "warn",
};
