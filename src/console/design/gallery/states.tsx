import type { JSX } from "preact";
import type { FailureText } from "../../api/failure-text.ts";
import type { LiveCall } from "../../api/use-call.ts";
import type { Concern } from "../../format/concern.ts";
import { Concerns, Headline } from "../concerns.tsx";
import { Empty } from "../empty.tsx";
import { Loaded } from "../loaded.tsx";
import { Panel } from "../panel.tsx";

/** What a page says about the service and about its own calls. */
export function States(): JSX.Element {
  return (
    <>
      <Panel title="The state in a sentence">
        <Headline concerns={[]} figures="1,204 signatures in the last day, IKA for 41 days." />
        <Headline concerns={[SOON]} figures="1,204 signatures in the last day." />
        <Headline concerns={[NOW]} figures="No signature in the last hour." />
        <Concerns of={[NOW, SOON]} />
      </Panel>
      <Panel title="A call">
        <Loaded call={{ isLoading: true, reload }}>{() => null}</Loaded>
        <Loaded call={{ isLoading: false, failure: REFUSED, reload }}>{() => null}</Loaded>
        <Loaded call={{ isLoading: false, failure: SILENT, reload }}>{() => null}</Loaded>
        <Loaded call={OLD}>{(text) => <p>{text}</p>}</Loaded>
        <Empty title="No signatures yet">The first one appears here while it is made.</Empty>
      </Panel>
    </>
  );
}

const reload = (): void => {};

const NOW: Concern = {
  tone: "bad",
  text: "No presign of Taproot is ready, and none is on the way.",
  remedy: "Refill the bucket, and look at the lanes if that does not help.",
  href: "#",
  page: "Presigns",
};
const SOON: Concern = {
  tone: "warn",
  text: "The IKA of the Treasury lasts 9 days at the rate of the last week.",
  remedy: "Put IKA into it: tss treasury fund.",
  href: "#",
  page: "Treasury and gas",
};
const REFUSED: FailureText = {
  title: "This key may not do this",
  message: "The key lacks the scope billing.",
  reason: "SCOPE_MISSING",
  requestId: "7d1f0c",
  isKeyRefused: false,
  isSilent: false,
};
const SILENT: FailureText = { ...REFUSED, title: "The service does not answer", isSilent: true };
const OLD: LiveCall<string> = {
  isLoading: false,
  data: "The last answer of a call that fails now.",
  // The age of a call that is read again and again: screenshots of it are alike.
  readMs: Number.MAX_SAFE_INTEGER,
  failure: SILENT,
  reload,
};
