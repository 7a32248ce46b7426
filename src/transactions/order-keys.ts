/** Keys of `metadata` in which merchants keep the number of their order. */
export const ORDER_KEYS = ['order_id', 'orderId', 'order', 'pedido', 'reference'] as const;
