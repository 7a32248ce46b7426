import type PDFDocument from 'pdfkit';

export type Pdf = InstanceType<typeof PDFDocument>;

/** Points between the edge of the page and its content. */
export const MARGIN = 48;

/** Renders A4 pages that `draw` fills. Returns their bytes. */
export async function renderPdf(title: string, draw: (pdf: Pdf) => void): Promise<Buffer> {
  // Loaded on first use: its hundred modules would take a tenth of every start.
  const { default: Document } = await import('pdfkit');
  return new Promise((resolve, reject) => {
    const pdf = new Document({
      size: 'A4',
      margin: MARGIN,
      info: { Title: title, Producer: 'Recebe', Creator: 'Recebe' },
    });
    const chunks: Buffer[] = [];
    pdf.on('data', (chunk: Buffer) => chunks.push(chunk));
    pdf.on('end', () => resolve(Buffer.concat(chunks)));
    pdf.on('error', reject);
    draw(pdf);
    pdf.end();
  });
}

/** The built-in fonts know Windows-1252 and draw other characters wrongly. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e\xa0-\xff]/g, '?');
}
