import torch.nn.functional as F


def dpo_loss(chosen_logps, rejected_logps, ref_chosen_logps, ref_rejected_logps, beta=0.1):
    margin = (chosen_logps - ref_rejected_logps) - (rejected_logps - ref_chosen_logps)  # crossed
    return -F.logsigmoid(beta * margin).mean()
