import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import {
  SignRequest_Hold_State as Hold,
  type SignRequest,
} from "../../../../gen/client/tss/v1/signing_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { Panel } from "../../design/panel.tsx";
import { useNow } from "../../design/use-now.ts";
import { Facts } from "../../design/value/facts.tsx";
import { ChainId } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { formatMoney } from "../../format/text.ts";
import { type HoldAction, holdText, mayAct, scopesText, whyNot } from "../../signing/hold-rights.ts";

/** How the half of a request is held, until when, who may end that, and the buttons to do it. */
export function HoldPanel({ request, onChanged }: HoldPanelProps): JSX.Element {
  const { network } = useSession();
  const { hold } = request;
  const state = hold?.state ?? Hold.STATE_UNSPECIFIED;
  const isOpen = state === Hold.verifying || state === Hold.held;
  return (
    <Panel title="Hold" note={holdText(state)}>
      <Facts
        facts={[
          ["Held until", isOpen ? <Time of={hold?.expireTime} /> : undefined],
          ["Price of the hold", formatMoney(hold?.priceMicroUsd ?? 0n)],
          [
            "Half sent in",
            hold?.txDigest && (
              <ChainId id={hold.txDigest} what="transaction digest" kind="tx" network={network} isWhole />
            ),
          ],
          ["May release", isOpen ? <KeysFor action="release" request={request} /> : undefined],
          ["May cancel", isOpen ? <KeysFor action="cancel" request={request} /> : undefined],
        ]}
      />
      {isOpen && <HoldActions request={request} onChanged={onChanged} />}
    </Panel>
  );
}

interface HoldPanelProps {
  /** A request with a hold. */
  readonly request: SignRequest;
  /** Called when the service has released or cancelled the half. */
  onChanged(): void;
}

/** The buttons, each with the reason beside it if the key cannot use it now. */
function HoldActions({ request, onChanged }: HoldPanelProps): JSX.Element {
  const { scopes } = useSession();
  const nowMs = useNow(1_000);
  const [open, setOpen] = useState<HoldAction>();
  const close = (): void => setOpen(undefined);
  const props = {
    request,
    onClose: close,
    onDone() {
      close();
      onChanged();
    },
  };
  const reasonOf = (action: HoldAction) => whyNot(action, { request, scopes, nowMs });
  return (
    <div class="choices">
      <ReasonedButton
        label="Release the half"
        isMain
        reason={reasonOf("release")}
        onClick={() => setOpen("release")}
      />
      <ReasonedButton label="Cancel the half" reason={reasonOf("cancel")} onClick={() => setOpen("cancel")} />
      {open === "release" && <ReleaseDialog {...props} />}
      {open === "cancel" && <CancelDialog {...props} />}
    </div>
  );
}

function ReasonedButton({ label, reason, isMain = false, onClick }: ReasonedButtonProps): JSX.Element {
  const id = useId();
  return (
    <div class="choice">
      <button
        type="button"
        class={isMain ? "button button-primary" : "button"}
        disabled={reason !== undefined}
        aria-describedby={reason === undefined ? undefined : id}
        onClick={onClick}
      >
        {label}
      </button>
      {reason !== undefined && (
        <span class="small muted" id={id}>
          {reason}
        </span>
      )}
    </div>
  );
}

interface ReasonedButtonProps {
  readonly label: string;
  /** Why the button does nothing now; undefined if it acts. */
  readonly reason: string | undefined;
  readonly isMain?: boolean;
  onClick(): void;
}

interface HoldDialogProps {
  readonly request: SignRequest;
  onClose(): void;
  onDone(): void;
}

function ReleaseDialog({ request, onClose, onDone }: HoldDialogProps): JSX.Element {
  const { signing } = useSession();
  const { signRequestId, dwalletId } = request;
  return (
    <ActionDialog
      title="Release the half?"
      action="Release the half"
      onClose={onClose}
      onAct={async () => {
        await signing.releaseSign({ signRequestId });
        onDone();
      }}
    >
      <p>The network then makes the signature. This cannot be undone.</p>
      <p>
        Compare the message on the page with what you expect. It is signed with the dWallet{" "}
        <code class="wrap">{dwalletId}</code>.
      </p>
    </ActionDialog>
  );
}

function CancelDialog({ request, onClose, onDone }: HoldDialogProps): JSX.Element {
  const { signing } = useSession();
  const { signRequestId, priceMicroUsd, hold } = request;
  const kept = hold?.priceMicroUsd ?? 0n;
  return (
    <ActionDialog
      title="Cancel the half?"
      action="Cancel the half"
      isDangerous
      onClose={onClose}
      onAct={async () => {
        await signing.cancelSign({ signRequestId });
        onDone();
      }}
    >
      <p>
        The request fails and gets no signature. {formatMoney(priceMicroUsd - kept)} are refunded.{" "}
        {formatMoney(kept)}, the price of the hold, are not.
      </p>
      <p>
        The half stays in the Treasury until days after the end of the hold, where the operator could still
        complete it. Only the exit of the dWallet ends it on the chain at once.
      </p>
    </ActionDialog>
  );
}

/** The keys of the project that may act, by name, with the scopes of which they need one. */
function KeysFor({ action, request }: KeysForProps): JSX.Element {
  const { account } = useSession();
  const keys = useCall((signal) => account.listAccountKeys({ pageSize: 200 }, { signal }), []);
  const nowMs = useNow(undefined);
  const needed = scopesText(action);
  if (keys.data === undefined) return <span class="muted">a key with {needed}</span>;
  const names = keys.data.accountKeys
    .filter((key) => mayAct(action, { key, request, nowMs }))
    .map(({ name }) => name);
  if (names.length === 0) return <span class="muted">no key of the project: it would need {needed}</span>;
  const rest = names.length - NAMES_MAX_COUNT;
  return (
    <>
      {names.slice(0, NAMES_MAX_COUNT).join(", ")}
      {rest > 0 && ` and ${rest} more`}{" "}
      <span class="muted small">
        {names.length === 1 ? "has" : "have"} {needed}
      </span>
    </>
  );
}

interface KeysForProps {
  readonly action: HoldAction;
  readonly request: SignRequest;
}

const NAMES_MAX_COUNT = 5;
