/// The parts of Ika that tests need besides the coordinator's own calls, here of the fake coordinator.
#[test_only]
module treasury::network;

use ika_dwallet_2pc_mpc::coordinator::{Self, DWalletCoordinator};
use ika_dwallet_2pc_mpc::coordinator_inner::{DWalletCap, ImportedKeyDWalletCap, price_for_testing, UnverifiedPresignCap};
use sui::tx_context::new_from_hint;

/// The transaction of the test, its sender, epoch and gas price.
public struct Network { ctx: TxContext, sender: address, epoch: u64, gas_price: u64 }

/// A network with a coordinator, in the first transaction of a sender.
public fun start(sender: address, gas_price: u64): (Network, DWalletCoordinator) {
    let mut ctx = new_from_hint(sender, 1, 0, 0, 0, gas_price);
    let coordinator = coordinator::new_for_testing(&mut ctx);
    (Network { ctx, sender, epoch: 0, gas_price }, coordinator)
}

public fun stop(self: Network, coordinator: DWalletCoordinator) {
    let Network { .. } = self;
    coordinator.share_for_testing();
}

/// Starts the transaction with this number.
public fun next(self: &mut Network, number: u64) {
    self.ctx = new_from_hint(self.sender, number, self.epoch, 0, 0, self.gas_price);
}

/// Sets the sender from the next transaction on.
public fun act_as(self: &mut Network, sender: address) {
    self.sender = sender;
}

/// Lets this many epochs pass.
public fun pass(self: &mut Network, epochs: u64) {
    self.epoch = self.epoch + epochs;
}

public fun ctx(self: &mut Network): &mut TxContext {
    &mut self.ctx
}

/// The price of every session, in IKA and SUI.
public fun price(): (u64, u64) {
    price_for_testing()
}

public fun key_id(_self: &Network, coordinator: &DWalletCoordinator): ID {
    coordinator.network_key_id_for_testing()
}

/// Registers an encryption key of a curve for its user.
public fun register_user(_self: &mut Network, coordinator: &mut DWalletCoordinator, user: address, curve: u32) {
    coordinator.register_for_testing(user, curve);
}

/// Completes the presign, as the network does.
public fun complete_presign(_self: &mut Network, coordinator: &mut DWalletCoordinator, presign_id: ID) {
    coordinator.complete_presign_for_testing(presign_id);
}

/// Verifies the last half that was requested, as the network does.
public fun complete_half(_self: &mut Network, coordinator: &mut DWalletCoordinator) {
    coordinator.complete_half_for_testing();
}

/// Completes the dWallet, as the network and then its user do.
public fun activate_dwallet(_self: &mut Network, coordinator: &mut DWalletCoordinator, dwallet_id: ID) {
    coordinator.activate_dwallet_for_testing(dwallet_id);
}

/// The dWallet's share that its user has accepted.
public fun share_id(_self: &Network, coordinator: &DWalletCoordinator, dwallet_id: ID): ID {
    coordinator.share_id_for_testing(dwallet_id)
}

/// Ika stops serving a curve for some time.
public fun pause_curve(_self: &mut Network, coordinator: &mut DWalletCoordinator, curve: u32) {
    coordinator.pause_curve_for_testing(curve);
}

/// Moves the coordinator to the next version of Ika's package.
public fun move_on(_self: &mut Network, coordinator: &mut DWalletCoordinator) {
    coordinator.move_on_for_testing();
}

/// The capability of a dWallet that the Treasury has sent away.
public fun dwallet_cap(self: &mut Network, coordinator: &DWalletCoordinator, dwallet_id: ID): DWalletCap {
    coordinator.dwallet_cap_for_testing(dwallet_id, &mut self.ctx)
}

/// The capability of an imported key that the Treasury has sent away.
public fun imported_key_cap(
    self: &mut Network,
    coordinator: &DWalletCoordinator,
    dwallet_id: ID,
): ImportedKeyDWalletCap {
    coordinator.imported_key_cap_for_testing(dwallet_id, &mut self.ctx)
}

/// The capability of a presign that the Treasury has sent away.
public fun presign_cap(self: &mut Network, coordinator: &mut DWalletCoordinator, presign_id: ID): UnverifiedPresignCap {
    coordinator.presign_cap_for_testing(presign_id, &mut self.ctx)
}
