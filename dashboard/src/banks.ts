/** Banks that people choose by name, by their ISPB. Source: BACEN, list of participants of the STR. */
export const BANKS: readonly (readonly [ispb: string, name: string])[] = [
  ['05463212', 'Ailos'],
  ['19540550', 'Asaas'],
  ['04902979', 'Banco da Amazônia'],
  ['00000000', 'Banco do Brasil'],
  ['07237373', 'Banco do Nordeste'],
  ['28127603', 'Banestes'],
  ['92702067', 'Banrisul'],
  ['60746948', 'Bradesco'],
  ['00000208', 'BRB'],
  ['30306294', 'BTG Pactual'],
  ['59588111', 'BV'],
  ['31872495', 'C6 Bank'],
  ['00360305', 'Caixa Econômica Federal'],
  ['37880206', 'Cora'],
  ['10398952', 'Cresol'],
  ['62232889', 'Daycoval'],
  ['09089356', 'Efí'],
  ['18189547', 'InfinitePay'],
  ['00416968', 'Inter'],
  ['60701190', 'Itaú'],
  ['10573521', 'Mercado Pago'],
  ['20855875', 'Neon'],
  ['18236120', 'Nubank'],
  ['92894922', 'Original'],
  ['08561701', 'PagBank'],
  ['22896431', 'PicPay'],
  ['58160789', 'Safra'],
  ['90400888', 'Santander'],
  ['02038232', 'Sicoob'],
  ['01181521', 'Sicredi'],
  ['16501555', 'Stone'],
  ['00315557', 'Unicred'],
];

/** The bank as people know it; its ISPB when the list does not have it. */
export function bankName(ispb: string): string {
  return BANKS.find(([one]) => one === ispb)?.[1] ?? `ISPB ${ispb}`;
}
