import type { JSX } from "preact";
import { type DWallet, DWallet_State as State } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { CurveSchema } from "../../../../gen/client/tss/v1/types_pb.ts";
import { isUnknown } from "../../api/failure-text.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { Facts } from "../../design/value/facts.tsx";
import { ChainId, Id } from "../../design/value/id.tsx";
import { enumName, formatHex } from "../../format/text.ts";
import type { PageProps } from "../../route.ts";
import { DWalletBadge } from "../../signing/state-badges.tsx";
import { ExitDrillNote } from "../access/exit-drill-note.tsx";
import { UserLink } from "../access/user-link.tsx";
import { addressesOf, addressNames } from "../money/references-panel.tsx";
import { HoldersPanel } from "./holders-panel.tsx";
import { SignRequestsPanel } from "./sign-requests-panel.tsx";

export function DWalletPage({ id }: PageProps): JSX.Element {
  const { onboarding } = useSession();
  const dwallet = useCall((signal) => onboarding.getDWallet({ dwalletId: id }, { signal }), [id]);
  if (isUnknown(dwallet.failure, "DWALLET_NOT_FOUND"))
    return (
      <PageFrame title="No such dWallet" up={{ href: "#/dwallets", title: "All dWallets" }}>
        <Empty title="The key sees no dWallet with this id">
          <code class="wrap">{id}</code>
        </Empty>
      </PageFrame>
    );
  return (
    <PageFrame title={dwallet.data?.name ?? "dWallet"} up={{ href: "#/dwallets", title: "All dWallets" }}>
      <Loaded call={dwallet} lines={8}>
        {(found) => <Parts dwallet={found} />}
      </Loaded>
      {dwallet.data !== undefined && (
        <>
          <HoldersPanel dwallet={dwallet.data} />
          <SignRequestsPanel dwalletId={id} />
        </>
      )}
    </PageFrame>
  );
}

function Parts({ dwallet }: { readonly dwallet: DWallet }): JSX.Element {
  const { network } = useSession();
  const addresses = addressesOf(dwallet);
  const { publicKey, acceptTxDigest } = dwallet;
  return (
    <>
      <Panel
        title="Addresses"
        note="Computed in this page from the public key. The Bitcoin addresses are those of its main network."
      >
        {addresses.length === 0 ? (
          <Empty title="No addresses yet">
            The dWallet has no public key before the network's part is done.
          </Empty>
        ) : (
          <Facts
            facts={addresses.map(({ kind, address }) => [
              addressNames[kind],
              kind === "sui" ? (
                <ChainId id={address} what="Sui address" kind="account" network={network} isWhole />
              ) : (
                <Id id={address} what={`${addressNames[kind]} address`} isWhole />
              ),
            ])}
          />
        )}
      </Panel>
      <Panel title="Key">
        <Facts
          facts={[
            [
              "User",
              dwallet.userReference === undefined ? undefined : (
                <UserLink reference={dwallet.userReference} />
              ),
            ],
            ["State", <DWalletBadge state={dwallet.state} />],
            ["Exit", dwallet.state === State.Active ? <ExitDrillNote of={dwallet.exitDrill} /> : undefined],
            ["Curve", enumName(CurveSchema, dwallet.curve)],
            [
              "dWallet",
              <ChainId id={dwallet.dwalletId} what="dWallet id" kind="object" network={network} isWhole />,
            ],
            ["Public key", publicKey && <Id id={formatHex(publicKey)} what="public key" isWhole />],
            ["DKG", <ChainId id={dwallet.txDigest} what="transaction digest" kind="tx" network={network} />],
            [
              "Accepted",
              acceptTxDigest && (
                <ChainId id={acceptTxDigest} what="transaction digest" kind="tx" network={network} />
              ),
            ],
            [
              "Network key",
              <ChainId
                id={dwallet.networkEncryptionKeyId}
                what="network encryption key id"
                kind="object"
                network={network}
              />,
            ],
          ]}
        />
      </Panel>
    </>
  );
}
