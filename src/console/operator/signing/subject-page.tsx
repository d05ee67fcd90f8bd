import type { JSX } from "preact";
import type { InspectedDWallet, InspectSubjectResponse } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { DWallet_State as State } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import {
  SignRequest_Hold_State as Hold,
  type SignRequest,
  SignRequest_Status as Status,
} from "../../../../gen/client/tss/v1/signing_pb.ts";
import { CurveSchema } from "../../../../gen/client/tss/v1/types_pb.ts";
import { isUnknown } from "../../api/failure-text.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { StageBars } from "../../design/chart/stage-bars.tsx";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Facts } from "../../design/value/facts.tsx";
import { ChainId, Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { enumName, formatMoney } from "../../format/text.ts";
import type { PageProps } from "../../route.ts";
import { holdText } from "../../signing/hold-rights.ts";
import { algorithmFacts, chainFacts } from "../../signing/request-facts.tsx";
import { signStory } from "../../signing/sign-story.ts";
import { DWalletBadge, SignState } from "../../signing/state-badges.tsx";
import { ProjectLink } from "../project-link.tsx";
import { type NextStep, nextStep, waitingStep } from "./next-steps.ts";
import { EntriesPanel, OperationsPanel } from "./subject-tables.tsx";

/** What happened to a sign request, a dWallet or the subject of an operation, in any project. It reads once, when asked. */
export function SubjectPage({ id }: PageProps): JSX.Element {
  const { admin } = useSession();
  const onNetwork = useOnNetwork();
  // Each reading is an event of the audit trail, so the page does not repeat it by itself.
  const found = useCall(
    (signal) => admin.inspectSubject({ subjectId: id.trim().toLowerCase() }, { signal }),
    [id],
  );
  if (isUnknown(found.failure, "SUBJECT_NOT_FOUND"))
    return (
      <PageFrame title="Nothing found" up={UP}>
        <Empty title={`There is no sign request, dWallet or operation with this id${onNetwork}`}>
          <code class="wrap">{id}</code>
        </Empty>
      </PageFrame>
    );
  return (
    <PageFrame
      title={found.data === undefined ? "Story" : titleOf(found.data)}
      up={UP}
      lead="What was signed, names and users are not shown. Each reading is an event of the audit trail."
      actions={
        <button type="button" class="button" disabled={found.isLoading} onClick={found.reload}>
          Read again
        </button>
      }
    >
      <Loaded call={found} lines={12}>
        {(reply) => <Parts found={reply} readMs={found.readMs ?? Date.now()} />}
      </Loaded>
    </PageFrame>
  );
}

const UP = { href: "#/signatures", title: "Signatures" };

function titleOf({ signRequest, dwallet }: InspectSubjectResponse): string {
  if (signRequest !== undefined) return "Sign request";
  return dwallet === undefined ? "Subject of an operation" : "dWallet";
}

interface PartsProps {
  readonly found: InspectSubjectResponse;
  /** When it was read, by the browser's clock. */
  readonly readMs: number;
}

function Parts({ found, readMs }: PartsProps): JSX.Element {
  const { signRequest, dwallet, operations, ledgerEntries } = found;
  return (
    <>
      {signRequest !== undefined && <RequestStory request={signRequest} readMs={readMs} />}
      {dwallet !== undefined && <DWalletStory dwallet={dwallet} />}
      <OperationsPanel operations={operations} />
      {signRequest !== undefined && <RequestFacts found={found} request={signRequest} />}
      {dwallet !== undefined && <DWalletFacts found={found} dwallet={dwallet} />}
      {(signRequest ?? dwallet) !== undefined && <EntriesPanel entries={ledgerEntries} />}
    </>
  );
}

function RequestStory({ request, readMs }: RequestStoryProps): JSX.Element {
  const { failure, hold, status } = request;
  const isHeld = hold !== undefined && (hold.state === Hold.verifying || hold.state === Hold.held);
  return (
    <Panel title="Story">
      <p>
        <SignState of={{ ...request, failure: undefined }} />
      </p>
      {failure !== undefined && (
        <p class="wrap">
          <code>{failure.reason}</code>: {failure.message}.{" "}
          {failure.refunded ? "The price was refunded." : "Nothing was refunded."}
        </p>
      )}
      {isHeld && (
        <p>
          {holdText(hold.state)} The hold ends <Time of={hold.expireTime} />.
        </p>
      )}
      {failure !== undefined && <Step of={nextStep(failure.reason)} />}
      {status === Status.queued && !isHeld && <Step of={waitingStep("queued")} />}
      {status === Status.submitted && <Step of={waitingStep("submitted")} />}
      <StageBars stages={signStory(request, readMs)} label="Stages of the request" />
    </Panel>
  );
}

interface RequestStoryProps {
  readonly request: SignRequest;
  readonly readMs: number;
}

function Step({ of: { text, runbook } }: { readonly of: NextStep }): JSX.Element {
  return (
    <p class="next-step">
      <strong>Next:</strong> {text}{" "}
      {runbook !== undefined && <a href={`#/runbook/${runbook}`}>Runbook: {runbook}</a>}
    </p>
  );
}

interface RequestFactsProps {
  readonly found: InspectSubjectResponse;
  readonly request: SignRequest;
}

function RequestFacts({ found: { projectId }, request }: RequestFactsProps): JSX.Element {
  const { network } = useSession();
  const { dwalletId, hold } = request;
  return (
    <Panel title="Request">
      <Facts
        facts={[
          ["Id", <Id id={request.signRequestId} what="sign request id" isWhole />],
          ["Project", projectId && <ProjectLink id={projectId} />],
          ["dWallet", <Id id={dwalletId} what="dWallet id" href={`#/subjects/${dwalletId}`} isWhole />],
          ...algorithmFacts(request),
          ["Price", formatMoney(request.priceMicroUsd)],
          ["Price of the hold", hold && formatMoney(hold.priceMicroUsd)],
          ["Requested", <Time of={request.createTime} />],
          ["Changed", <Time of={request.updateTime} />],
          [
            "Half sent in",
            hold?.txDigest && (
              <ChainId id={hold.txDigest} what="transaction digest" kind="tx" network={network} isWhole />
            ),
          ],
          ...chainFacts(request, network),
        ]}
      />
    </Panel>
  );
}

interface DWalletProps {
  readonly dwallet: InspectedDWallet;
}

function DWalletStory({ dwallet }: DWalletProps): JSX.Element {
  const { state, failureReason } = dwallet;
  const value = isState(state) ? State[state] : undefined;
  return (
    <Panel title="Story">
      <p>
        {value === undefined ? <Badge tone="bad">{state}</Badge> : <DWalletBadge state={value} />}{" "}
        <span class="muted">
          last changed <Time of={dwallet.updateTime} />
        </span>
      </p>
      {failureReason !== undefined && (
        <>
          <p class="wrap">
            <code>{failureReason}</code>.{" "}
            {dwallet.refunded ? "The price was refunded." : "Nothing was refunded."}
          </p>
          <Step of={nextStep(failureReason)} />
        </>
      )}
    </Panel>
  );
}

const isState = (name: string): name is keyof typeof State => name in State;

function DWalletFacts({ found, dwallet }: DWalletProps & Pick<PartsProps, "found">): JSX.Element {
  const { network } = useSession();
  const { dwalletId } = dwallet;
  return (
    <Panel title="dWallet">
      <Facts
        facts={[
          [
            "dWallet",
            dwalletId && <ChainId id={dwalletId} what="dWallet id" kind="object" network={network} isWhole />,
          ],
          ["Id in the service", <Id id={found.subjectId} what="id in the service" isWhole />],
          ["Project", found.projectId && <ProjectLink id={found.projectId} />],
          ["Curve", enumName(CurveSchema, dwallet.curve)],
          ["Price", formatMoney(dwallet.priceMicroUsd)],
          ["Requested", <Time of={dwallet.createTime} />],
          [
            "Network key",
            <ChainId
              id={dwallet.networkEncryptionKeyId}
              what="network encryption key id"
              kind="object"
              network={network}
              isWhole
            />,
          ],
        ]}
      />
    </Panel>
  );
}
