import { ApiProperty } from '@nestjs/swagger';
import { FEE_OPERATIONS, type FeeOperation } from '../../acquirers/index.js';
import { CursorListOf } from '../../core/http/index.js';

const ID = '019aa0f0-7d5c-7c3e-9b1a-2f4d6c8e0a12';
const TIME = { format: 'date-time', example: '2027-11-21T12:00:00.000Z' };

export class FeeBody {
  @ApiProperty({
    description: '`PIX`: one that comes in; `devolution`: money of one that goes back.',
    enum: FEE_OPERATIONS,
  })
  operation!: FeeOperation;
  @ApiProperty({
    description: 'Its first day in São Paulo. Of two of one day the later one of the list holds.',
    format: 'date',
    example: '2027-12-01',
  })
  valid_from!: string;
  @ApiProperty({ description: 'Basis points of the amount.', type: 'integer', example: 99 }) bps!: number;
  @ApiProperty({ description: 'Cents on top.', type: 'integer', example: 0 }) fixed!: number;
  @ApiProperty({ description: 'At least these cents.', type: 'integer', example: 1 }) minimum!: number;
  @ApiProperty({ description: 'At most these cents; null: no limit.', type: 'integer', nullable: true, example: 1000 })
  maximum!: number | null;
}

export class ConnectionBody {
  @ApiProperty({ description: 'Id of the connection.', example: ID }) id!: string;
  @ApiProperty({ description: 'Kind of object.', enum: ['connection'] }) object!: 'connection';
  @ApiProperty({ description: 'Whose.', example: ID }) account_id!: string;
  @ApiProperty({ description: 'Profile of the PSP.', example: 'efi' }) psp!: string;
  @ApiProperty({ description: 'The Pix key that is charged to.', example: 'pix@example.com' }) pix_key!: string;
  @ApiProperty({ description: 'Whether new live charges of the account go there.', example: true }) in_use!: boolean;
  @ApiProperty({ description: 'What the PSP charges, by the first days.', type: [FeeBody] }) fees!: FeeBody[];
  @ApiProperty({
    description: 'Until when its certificate holds; null where the PSP asks for none.',
    type: String,
    nullable: true,
    ...TIME,
  })
  certificate_expires_at!: string | null;
  @ApiProperty({
    description: 'When the address of its callbacks was last told to the PSP; null: never.',
    type: String,
    nullable: true,
    ...TIME,
  })
  webhook_registered_at!: string | null;
  @ApiProperty({ description: 'UTC.', ...TIME }) created_at!: string;
  @ApiProperty({ description: 'When it was last configured, UTC.', ...TIME }) updated_at!: string;
}

export class ConnectionListBody extends CursorListOf(ConnectionBody) {}
