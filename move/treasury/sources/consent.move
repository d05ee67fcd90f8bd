/// The messages that the owner of a dWallet signs for the Treasury. The owner is the address of the user's encryption
/// key: the Sui address of the Ed25519 key that also signs the encryption key and accepts the dWallet.
module treasury::consent;

use sui::address;
use sui::bcs;
use sui::ed25519;
use sui::hash::blake2b256;

/// Domain separation: no other signature of the same key is valid as a consent. The message begins with the length of
/// this text, 44. The key also signs the user's encryption key, which begins with 0, and the dWallet's output, which
/// begins with 1. For a Sui transaction or personal message, the key signs a digest of 32 bytes. A consent is longer.
const DOMAIN: vector<u8> = b"threshold-signing-service/treasury/consent/1";
/// The flag of Ed25519 before the public key, in the preimage of a Sui address.
const ED25519_FLAG: u8 = 0;

/// The zero address.
const NOBODY: address = @0x0;

/// The owner takes the dWallet's capability out. `recipient` receives it.
const LEAVE: u8 = 0;
/// The owner forbids the administrator from handing out the capability. `recipient` is the zero address.
const REFUSE: u8 = 1;

/// The signed message, in BCS.
public struct Consent has copy, drop {
    domain: vector<u8>,
    action: u8,
    /// The digest of the chain's first checkpoint. It tells the signer which chain the consent is for. The Treasury
    /// cannot check it, because a contract does not know its chain. The Treasury's id exists on one chain only.
    chain: vector<u8>,
    treasury_id: ID,
    dwallet_id: ID,
    recipient: address,
    /// The number of consents that the Treasury has used for the dWallet before this one.
    nonce: u64,
    /// The last epoch in which the consent can be used.
    expires_epoch: u64,
}

public(package) fun to_leave(
    chain: vector<u8>,
    treasury_id: ID,
    dwallet_id: ID,
    recipient: address,
    nonce: u64,
    expires_epoch: u64,
): Consent {
    Consent { domain: DOMAIN, action: LEAVE, chain, treasury_id, dwallet_id, recipient, nonce, expires_epoch }
}

public(package) fun to_refuse(
    chain: vector<u8>,
    treasury_id: ID,
    dwallet_id: ID,
    nonce: u64,
    expires_epoch: u64,
): Consent {
    let recipient = NOBODY;
    Consent { domain: DOMAIN, action: REFUSE, chain, treasury_id, dwallet_id, recipient, nonce, expires_epoch }
}

public(package) fun nonce(self: &Consent): u64 {
    self.nonce
}

public(package) fun expires_epoch(self: &Consent): u64 {
    self.expires_epoch
}

/// Returns whether this is the owner's Ed25519 signature of the consent.
public(package) fun is_signed_by(
    self: &Consent,
    owner: address,
    public_key: &vector<u8>,
    signature: &vector<u8>,
): bool {
    let mut preimage = vector[ED25519_FLAG];
    preimage.append(*public_key);
    address::from_bytes(blake2b256(&preimage)) == owner
        && ed25519::ed25519_verify(signature, public_key, &bcs::to_bytes(self))
}
